import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Verification } from './signatures.ts'

export const SignatureEntity = entity({
  signature_type: z.enum(['PGP', 'SSH', 'X509']),
  verification_status: z.string(),
  commit_source: z.string(),
  gpg_key_id: z.int().nullish(),
  gpg_key_primary_keyid: z.string().nullish(),
  gpg_key_user_name: z.string().nullish(),
  gpg_key_user_email: z.string().nullish(),
  gpg_key_subkey_id: z.int().nullish(),
  key: z.null().optional(),
  x509_certificate: z.null().optional(),
}).meta({ id: 'CommitSignature' })

export function presentSignature({
  kind,
  status,
  keyId,
  key,
  subkey,
  holder,
}: Verification): z.infer<typeof SignatureEntity> {
  const common = { signature_type: kind, verification_status: status, commit_source: 'git' }
  if (kind === 'SSH') return { ...common, key: null }
  if (kind === 'X509') return { ...common, x509_certificate: null }
  return {
    ...common,
    gpg_key_id: key?.id ?? null,
    gpg_key_primary_keyid: key?.primary_keyid ?? keyId,
    gpg_key_user_name: holder?.name ?? null,
    gpg_key_user_email: holder?.email ?? null,
    gpg_key_subkey_id: subkey?.id ?? null,
  }
}
