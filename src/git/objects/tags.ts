/** Annotated tags, read from their objects. */
import { parseHeaders } from './headers.ts'
import { parsePerson, type Person } from './identities.ts'
import { signatureStart } from './signatures.ts'
import { CUT_MARK, startOf, textOf } from './texts.ts'

export interface Annotation {
  /** Without the signature and the last line break. */
  readonly message: string
  /** Null in tags of the first git versions. */
  readonly tagger: Person | null
  /** ASCII-armored; `signedTag` returns the signed content. */
  readonly signature: string | null
}

/** Cuts a longer message to this number of bytes. */
export function parseTag(content: Buffer, most = Infinity): Annotation {
  const { headers, body } = parseHeaders(content)
  const tagger = headers.find(({ name }) => name === 'tagger')
  // The line break before the signature belongs to the message, even if the message is empty.
  const at = body.length - content.length + signatureStart(content)
  const isSigned = signatureStart(content) >= 0 && at >= 0
  const message = isSigned ? body.subarray(0, at) : body
  return {
    message: message.length > most ? textOf(startOf(message, most)) + CUT_MARK : textOf(message).replace(/\n$/, ''),
    tagger: tagger ? parsePerson(textOf(tagger.value)) : null,
    signature: isSigned ? body.toString('latin1', at) : null,
  }
}
