declare module '../../../store/database.ts' {
  interface Events {
    /** `complete`: this approval was the last one missing. */
    'merge_request.approved': { id: number; project_id: number; by: number; complete: boolean }
    /** `complete`: no approval was missing before. */
    'merge_request.unapproved': { id: number; project_id: number; by: number; complete: boolean }
  }
}
