declare module '../../../store/database.ts' {
  interface Tables {
    /** The highest level anything gives a user on a project; derived, never the source of truth. */
    /** From Guest on: whoever has less has no row. */
    project_authorizations: { user_id: number; project_id: number; access_level: number }
  }
}
