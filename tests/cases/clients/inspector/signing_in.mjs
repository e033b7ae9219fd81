// A server that asks for credentials. The tokens are those of a writer, a reader and an admin.

import assert from "node:assert/strict";

import { sentence } from "./browser.mjs";
import { expect } from "./expect.mjs";
import { act, said } from "./pieces.mjs";

async function signIn(page, token, namespace = "") {
  await page.getByLabel("Token").fill(token);
  await page.getByLabel("Namespace").fill(namespace);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export const signedIn = {
  async with_a_token({ page, url, server, tokens }) {
    const [writer, reader, admin] = tokens;
    await server.call("MemoryService/Memorize", { conversationId: "mine", utterances: [sentence(1)] });
    await page.goto(`${url}#/mine`);
    await expect(page.getByText("This server requires a credential.")).shown();
    assert.equal(await page.getByText("mine").count(), 0);
    await signIn(page, "not-a-token");
    await expect(page.getByRole("alert")).holds("the credential is not accepted");
    await signIn(page, writer);
    await act(page, "Pin #1");
    await expect(said(page, 1)).holds("pinned");
    await page.reload();
    await expect(said(page, 1)).shown();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(page, reader);
    await page.getByLabel("Search titles and texts").fill("sentence");
    await expect(page.getByRole("navigation", { name: "Conversations" })).holds("1 text.");
    await act(page, "Unpin #1");
    await expect(page.getByRole("status").filter({ hasText: "role" })).shown();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(page, admin, "acme");
    await expect(page.getByText("Nothing to show")).shown();
    await expect(page.getByRole("banner")).holds("acme");
  },
};
