import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    ldap_group_links: {
      id: Generated<number>
      group_id: number
      provider: string
      cn: string
      group_access: number
      created_at: string
    }
  }
}
