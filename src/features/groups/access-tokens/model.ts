declare module '../../../store/database.ts' {
  interface Tables {
    /** Accounts that tokens of groups and projects act as: of one of the two, or of none once it is gone. */
    resource_bots: { user_id: number; group_id: number | null; project_id: number | null }
    /** How many days before their end tokens were told of. */
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
