import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

export const InvitationEntity = entity({
  access_level: z.int(),
  created_at: timestampOut,
  /** The start of the day, as clients expect. */
  expires_at: timestampOut.nullable(),
  invite_email: z.string(),
  invite_token: z.string(),
  /** Always null: no account is known for the address yet. */
  user_name: z.null(),
  created_by_name: z.string().nullable(),
}).meta({ id: 'Invitation' })

export interface LoadedInvitation extends Row<'invitations'> {
  token: string
  creator: User | null
}

export function presentInvitation(invitation: LoadedInvitation): z.infer<typeof InvitationEntity> {
  return {
    access_level: invitation.access_level,
    created_at: invitation.created_at,
    expires_at: invitation.expires_at && `${invitation.expires_at}T00:00:00.000Z`,
    invite_email: invitation.email,
    invite_token: invitation.token,
    user_name: null,
    created_by_name: invitation.creator?.name ?? null,
  }
}
