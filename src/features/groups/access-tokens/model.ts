declare module '../../../store/database.ts' {
  interface Tables {
    /** Accounts that tokens of groups and projects act as: of one of the two, or of none once it is gone. */
    resource_bots: { user_id: number; group_id: number | null; project_id: number | null }
  }
}

export {}
