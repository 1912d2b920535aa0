/** A credential as the browser sends it: the part of `PublicKeyCredential.toJSON()` that the server reads. */
import { z } from 'zod'
import { LONGEST } from '../../../api/wire.ts'

const encoded = z.string().max(LONGEST.text)

const common = { id: encoded, rawId: encoded, type: z.literal('public-key') }

export const registered = z.object({
  ...common,
  response: z.object({
    clientDataJSON: encoded,
    attestationObject: encoded,
    transports: z.array(z.string().max(32)).max(16).nullish(),
  }),
})

export const signed = z.object({
  ...common,
  response: z.object({
    clientDataJSON: encoded,
    authenticatorData: encoded,
    signature: encoded,
    userHandle: encoded.nullish(),
  }),
})

export type Registered = z.infer<typeof registered>
export type Signed = z.infer<typeof signed>

/** From a form, which sends it as JSON in one field. */
export function signedIn(text: string): Signed | null {
  try {
    return signed.parse(JSON.parse(text))
  } catch {
    return null
  }
}
