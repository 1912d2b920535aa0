import type { Generated } from 'kysely'
import type { SourceColumns } from '../members/model.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    invitations: SourceColumns & {
      id: Generated<number>
      /** In lower case. */
      email: string
      access_level: number
      expires_at: string | null
      token_digest: string
      token_sealed: string
      created_by_id: number | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'invitation.made': { id: number }
  }
}
