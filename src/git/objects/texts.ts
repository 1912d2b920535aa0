/** Bytes of a repository as text. Git promises no encoding: what is none we know becomes U+FFFD, and so does NUL. */

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

export const textOf = (bytes: Uint8Array): string => withoutNul(utf8.decode(bytes))

/** As a commit's `encoding` header says; a name nobody knows is taken for UTF-8. */
export function textIn(encoding: string, bytes: Uint8Array): string {
  try {
    return withoutNul(new TextDecoder(encoding).decode(bytes))
  } catch {
    return textOf(bytes)
  }
}

const withoutNul = (text: string) => text.replaceAll('\0', '\uFFFD')

/** Ends a message of which only the beginning is told. */
export const CUT_MARK = '\n\n[message cut]\n'

/** The first bytes, but not up to the middle of a character. */
export function startOf(bytes: Buffer, most: number): Buffer {
  let end = Math.min(most, bytes.length)
  while (end < bytes.length && end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** A name as git writes it in a line: in quotes, with escapes, as soon as it has an odd byte. */
export function unquote(written: string): string {
  if (!written.startsWith('"')) return written
  const parts = written.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)
  return textOf(
    Buffer.concat(
      Array.from(parts, ([, octal, escaped, plain]) => {
        if (octal) return Buffer.of(Number.parseInt(octal, 8))
        return escaped ? Buffer.of(ESCAPES[escaped] ?? escaped.charCodeAt(0)) : Buffer.from(plain!)
      }),
    ),
  )
}
