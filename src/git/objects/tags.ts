/** Annotated tags, read from their objects. */
import { parseHeaders } from './headers.ts'
import { parsePerson, type Person } from './identities.ts'
import { signatureStart } from './signatures.ts'
import { textOf } from './texts.ts'

export interface Annotation {
  /** Without its signature and its last line break. */
  readonly message: string
  /** Null in tags of the first versions of git. */
  readonly tagger: Person | null
  /** Armoured; `signedTag` has what it signs. */
  readonly signature: string | null
}

export function parseTag(content: Buffer): Annotation {
  const { headers, body } = parseHeaders(content)
  const tagger = headers.find(({ name }) => name === 'tagger')
  // The line break before it belongs to the message, also when that is empty.
  const at = body.length - content.length + signatureStart(content)
  const isSigned = signatureStart(content) >= 0 && at >= 0
  return {
    message: textOf(isSigned ? body.subarray(0, at) : body).replace(/\n$/, ''),
    tagger: tagger ? parsePerson(textOf(tagger.value)) : null,
    signature: isSigned ? body.toString('latin1', at) : null,
  }
}
