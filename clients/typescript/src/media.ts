/** Converts images and documents of the AI SDK to Anthropic's format, and back. */
import type { FilePart, ImagePart } from "ai";

/** An image or a document in Anthropic's format. */
export interface MediaBlock {
  type: "image" | "document";
  source: { type: "base64"; media_type: string; data: string } | { type: "url"; url: string };
  title?: string;
}

/** The beginning of an image's base64. */
const IMAGES = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
] as const;
const PDF = "application/pdf";

/** The block for a part; undefined if Anthropic's format has none, for example for audio. */
export function blockOf(part: ImagePart | FilePart): MediaBlock | undefined {
  const { url, data, told } = contentOf(part.type === "image" ? part.image : part.data);
  const declared = part.mediaType ?? told ?? "image/*";
  const mediaType = declared === "image/*" ? IMAGES.find(([begin]) => data?.startsWith(begin))?.[1] : declared;
  const isImage = mediaType?.startsWith("image/") ?? url !== undefined;
  if (!isImage && mediaType !== PDF) return undefined;
  const title = part.type === "file" && !isImage && part.filename ? { title: part.filename } : {};
  const type = isImage ? "image" : "document";
  if (url !== undefined) return { type, source: { type: "url", url }, ...title };
  const known = [PDF, ...IMAGES.map(([, image]) => image)].find((one) => one === mediaType);
  return known && data ? { type, source: { type: "base64", media_type: known, data }, ...title } : undefined;
}

/** The part for a block; undefined for a source that the AI SDK does not have, such as an uploaded file. */
export function partOf({ type, source, title }: MediaBlock): ImagePart | FilePart | undefined {
  if (source.type !== "url" && source.type !== "base64") return undefined;
  const data = source.type === "url" ? new URL(source.url) : source.data;
  const told = source.type === "base64" ? source.media_type : undefined;
  if (type === "image") return { type, image: data, ...(told && { mediaType: told }) };
  return { type: "file", data, mediaType: told ?? PDF, ...(title && { filename: title }) };
}

interface Content {
  url?: string;
  /** Base64. */
  data?: string;
  /** The media type in a data URL. */
  told?: string;
}

function contentOf(content: unknown): Content {
  if (content instanceof ArrayBuffer) return { data: Buffer.from(content).toString("base64") };
  if (content instanceof Uint8Array) {
    return { data: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64") };
  }
  const text = content instanceof URL ? content.href : typeof content === "string" ? content : "";
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(text);
  if (inline) return { told: inline[1], data: inline[2] };
  return /^https?:/.test(text) ? { url: text } : { data: text };
}
