import { Answer } from '../../../api/endpoint.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { SANDBOXED, disposition } from '../../../lib/net/file-headers.ts'
import type { Snippet, SnippetFile } from './model.ts'
import { findSnippetFile, isRef } from './queries.ts'

/** Always plain text, so that a browser runs nothing. */
export const rawHeaders = ({ path }: SnippetFile) => ({
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Disposition': disposition('inline', path.split('/').at(-1)!),
  'Cache-Control': 'private, no-cache',
  ...SANDBOXED,
})

/** The content of a file, or of the first one. */
export async function answerRaw(
  { db }: App,
  snippet: Snippet,
  at?: { ref: string; file_path: string },
): Promise<Answer> {
  const file = at && !isRef(at.ref) ? null : await findSnippetFile(db, snippet, at?.file_path)
  if (!file) throw notFound(at ? 'File' : 'Snippet')
  return new Answer(200, Buffer.from(file.content), rawHeaders(file))
}
