/** Extracts the signed bytes of a commit or a tag, and the signature. Pure; verifies nothing. */
import { parseHeaders } from './headers.ts'

export interface Signed {
  readonly kind: 'PGP' | 'SSH' | 'X509'
  readonly payload: Buffer
  /** ASCII-armored, as written. */
  readonly signature: string
}

const OPENINGS: readonly (readonly [opening: string, kind: Signed['kind']])[] = [
  ['-----BEGIN PGP SIGNATURE-----', 'PGP'],
  ['-----BEGIN PGP MESSAGE-----', 'PGP'],
  ['-----BEGIN SSH SIGNATURE-----', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----', 'X509'],
]

export const kindOf = (signature: string): Signed['kind'] | undefined =>
  OPENINGS.find(([opening]) => signature.startsWith(opening))?.[1]

/** For repositories of either hash. */
const SIGNATURES = ['gpgsig', 'gpgsig-sha256']

/**
 * Everything except the signature headers is signed. Of several signatures git uses only the first, and so does this
 * code.
 */
export function signedCommit(content: Buffer): Signed | null {
  const { headers, body } = parseHeaders(content)
  const signature = headers.find(({ name }) => name === 'gpgsig')?.value.toString('latin1')
  const kind = signature === undefined ? undefined : kindOf(signature)
  if (signature === undefined || !kind) return null
  const unsigned = headers.filter(({ name }) => !SIGNATURES.includes(name)).map(({ written }) => written)
  return { kind, payload: Buffer.concat([...unsigned, Buffer.from('\n'), body]), signature }
}

/** A tag has its signature at the end of its message. */
export function signedTag(content: Buffer): Signed | null {
  const at = signatureStart(content)
  if (at < 0) return null
  const signature = content.toString('latin1', at)
  return { kind: kindOf(signature)!, payload: content.subarray(0, at), signature }
}

/** The start of the last line that opens a signature, as git reads it. -1 without a signature. */
export function signatureStart(content: Buffer): number {
  const offsets = OPENINGS.map(([opening]) => {
    const offset = content.lastIndexOf(`\n${opening}`)
    return offset < 0 ? -1 : offset + 1
  })
  return Math.max(...offsets)
}
