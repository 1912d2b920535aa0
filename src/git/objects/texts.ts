/** Decodes bytes of a repository. Git guarantees no encoding: unknown bytes become U+FFFD, and so does NUL. */

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

export const textOf = (bytes: Uint8Array): string => withoutNul(utf8.decode(bytes))

/** By the `encoding` header of a commit. An unknown encoding is read as UTF-8. */
export function textIn(encoding: string, bytes: Uint8Array): string {
  try {
    return withoutNul(new TextDecoder(encoding).decode(bytes))
  } catch {
    return textOf(bytes)
  }
}

const withoutNul = (text: string) => text.replaceAll('\0', '\uFFFD')

/** Appended to a message that was cut. */
export const CUT_MARK = '\n\n[message cut]\n'

/** The first bytes, without cutting a character. */
export function startOf(bytes: Buffer, most: number): Buffer {
  let end = Math.min(most, bytes.length)
  while (end < bytes.length && end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** Decodes a name that git has quoted and escaped because of an unusual byte. */
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
