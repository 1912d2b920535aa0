import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    ldap_group_links: {
      id: Generated<number>
      group_id: number
      provider: string
      /** The name of a directory group, or an LDAP filter for users: exactly one is set, the other is empty. */
      cn: string
      filter: Generated<string>
      group_access: number
      created_at: string
    }
  }
}
