declare module '../../../store/database.ts' {
  interface Tables {
    /** Bot accounts of group and project access tokens. Both ids are null once the group or project is deleted. */
    resource_bots: { user_id: number; group_id: number | null; project_id: number | null }
    /** The warnings already sent, by the number of days before expiry. */
    resource_token_warnings: { token_id: number; days: number }
  }
  interface Events {
    'access_token.expiring': {
      id: number
      user_id: number
      group_id: number | null
      project_id: number | null
      days: number
    }
  }
}

export {}
