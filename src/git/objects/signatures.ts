/** What was signed in a commit or a tag, byte for byte, and the signature over it. Pure; nothing is verified here. */
import { parseHeaders } from './headers.ts'

export interface Signed {
  readonly kind: 'PGP' | 'SSH' | 'X509'
  readonly payload: Buffer
  /** Armoured, as it was written. */
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

/** In repositories of either hash. */
const SIGNATURES = ['gpgsig', 'gpgsig-sha256']

/** All but its signature headers is signed; of several signatures git too knows the first only. */
export function signedCommit(content: Buffer): Signed | null {
  const { headers, body } = parseHeaders(content)
  const signature = headers.find(({ name }) => name === 'gpgsig')?.value.toString('latin1')
  const kind = signature === undefined ? undefined : kindOf(signature)
  if (signature === undefined || !kind) return null
  const unsigned = headers.filter(({ name }) => !SIGNATURES.includes(name)).map(({ written }) => written)
  return { kind, payload: Buffer.concat([...unsigned, Buffer.from('\n'), body]), signature }
}

/** A tag carries its signature at the end of its message. */
export function signedTag(content: Buffer): Signed | null {
  const at = signatureStart(content)
  if (at < 0) return null
  const signature = content.toString('latin1', at)
  return { kind: kindOf(signature)!, payload: content.subarray(0, at), signature }
}

/** Of the last line that opens a signature, as git reads it; -1 when there is none. */
export function signatureStart(content: Buffer): number {
  const places = OPENINGS.map(([opening]) => {
    const place = content.lastIndexOf(`\n${opening}`)
    return place < 0 ? -1 : place + 1
  })
  return Math.max(...places)
}
