/** Converts images and documents of the AI SDK to Anthropic's format, and back. */
import type { FilePart, ImagePart } from "ai";

/** An image or a document in Anthropic's format. */
export interface MediaBlock {
  type: "image" | "document";
  source: { type: "base64"; media_type: string; data: string } | { type: "url"; url: string };
  title?: string;
}

/** A file, as parts of messages and of tools' outputs have it in the versions of the AI SDK. */
interface AnyFile {
  readonly type: string;
  readonly image?: unknown;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
}

/** The beginning of an image's base64. */
const IMAGES = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
] as const;
const PDF = "application/pdf";

/** The block for a file; or else, for example for audio, a text that says what is there. */
export function blockOf(file: AnyFile): MediaBlock | { type: "text"; text: string } {
  return mediaOf(file) ?? { type: "text", text: noteOf(file) };
}

/** What stands for a file where only text can: its name and type. */
export function noteOf({ type, mediaType, filename }: AnyFile): string {
  return `[${[filename ?? type.replace(/-.*/, ""), mediaType].filter(Boolean).join(", ")}]`;
}

/** The part for a block; undefined for a source that the AI SDK does not have, such as an uploaded file. */
export function partOf({ type, source, title }: MediaBlock): ImagePart | FilePart | undefined {
  if (source.type !== "url" && source.type !== "base64") return undefined;
  const data = source.type === "url" ? new URL(source.url) : source.data;
  const told = source.type === "base64" ? source.media_type : undefined;
  if (type === "image") return { type, image: data, ...(told && { mediaType: told }) };
  return { type: "file", data, mediaType: told ?? PDF, ...(title && { filename: title }) };
}

function mediaOf(file: AnyFile): MediaBlock | undefined {
  const { url, data, told } = contentOf(file.image ?? file.data ?? file.url);
  const declared = file.mediaType ?? told ?? (file.type.startsWith("image") ? "image" : "");
  const mediaType = /^image(\/\*)?$/.test(declared) ? IMAGES.find(([begin]) => data?.startsWith(begin))?.[1] : declared;
  const isImage = mediaType?.startsWith("image/") ?? url !== undefined;
  if (!isImage && mediaType !== PDF) return undefined;
  const title = file.filename && !isImage ? { title: file.filename } : {};
  const type = isImage ? "image" : "document";
  if (url !== undefined) return { type, source: { type: "url", url }, ...title };
  const known = [PDF, ...IMAGES.map(([, image]) => image)].find((one) => one === mediaType);
  return known && data ? { type, source: { type: "base64", media_type: known, data }, ...title } : undefined;
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
  if (content instanceof URL) return contentOf(content.href);
  if (typeof content === "object" && content !== null) {
    // From version 7 on, data can say what it is.
    const { data, url } = content as { data?: unknown; url?: unknown };
    return data === undefined && url === undefined ? {} : contentOf(data ?? url);
  }
  if (typeof content !== "string") return {};
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(content);
  if (inline) return { told: inline[1], data: inline[2] };
  return /^https?:/.test(content) ? { url: content } : { data: content };
}
