declare module '../../../store/database.ts' {
  interface Events {
    /** `complete`: nothing more was missing then. */
    'merge_request.approved': { id: number; project_id: number; by: number; complete: boolean }
    /** `complete`: nothing had been missing before. */
    'merge_request.unapproved': { id: number; project_id: number; by: number; complete: boolean }
  }
}
