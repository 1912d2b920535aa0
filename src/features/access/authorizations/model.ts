declare module '../../../store/database.ts' {
  interface Tables {
    /**
     * The highest level that any membership or share gives a user on a project. Derived data, never the source of
     * truth.
     */
    /** Starts at Guest: a user with a lower level has no row. */
    project_authorizations: { user_id: number; project_id: number; access_level: number }
  }
}
