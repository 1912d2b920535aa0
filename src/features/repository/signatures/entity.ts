import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { KeyEntity, presentKey } from '../../identity/keys/entity.ts'
import type { StoredSignature } from './queries.ts'

const fields = {
  signature_type: z.enum(['PGP', 'SSH', 'X509']),
  verification_status: z.string(),
  gpg_key_id: z.int().nullish(),
  gpg_key_primary_keyid: z.string().nullish(),
  gpg_key_user_name: z.string().nullish(),
  gpg_key_user_email: z.string().nullish(),
  gpg_key_subkey_id: z.int().nullish(),
  key: KeyEntity.omit({ last_used_at: true }).nullish(),
  x509_certificate: z.null().optional(),
}

export const TagSignatureEntity = entity(fields).meta({ id: 'TagSignature' })

export const CommitSignatureEntity = entity({ ...fields, commit_source: z.string() }).meta({ id: 'CommitSignature' })

export function presentTagSignature(
  kept: StoredSignature,
  around: { url: string },
): z.infer<typeof TagSignatureEntity> {
  return {
    signature_type: kept.kind,
    verification_status: kept.status,
    ...(kept.kind === 'PGP' && {
      gpg_key_id: kept.gpg_key_id,
      gpg_key_primary_keyid: kept.primary_keyid ?? kept.signed_by,
      gpg_key_user_name: kept.holder_name,
      gpg_key_user_email: kept.holder_email,
      gpg_key_subkey_id: kept.gpg_subkey_id,
    }),
    ...(kept.kind === 'SSH' && { key: kept.key && presentSigningKey(kept.key, around) }),
    ...(kept.kind === 'X509' && { x509_certificate: null }),
  }
}

export function presentCommitSignature(
  kept: StoredSignature,
  around: { url: string },
): z.infer<typeof CommitSignatureEntity> {
  return { ...presentTagSignature(kept, around), commit_source: 'git' }
}

/**
 * Everybody may see this record. So it shows neither the last use nor the comment of the key, which may name the
 * owner's machine.
 */
function presentSigningKey(key: NonNullable<StoredSignature['key']>, around: { url: string }) {
  const { last_used_at: _, ...shown } = presentKey(key)
  return { ...shown, key: namingOwner(key.key, { name: key.owner }, around) }
}

/** Replaces the comment of a key, which may contain anything, by the name of its owner. */
function namingOwner(key: string, { name }: { name: string }, { url }: { url: string }): string {
  const [algorithm, base64] = key.split(' ')
  return `${algorithm} ${base64} ${name} (${new URL(url).hostname})`
}
