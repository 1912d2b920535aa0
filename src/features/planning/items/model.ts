declare module '../../../store/database.ts' {
  interface Tables {
    /** The items that the removal of a member unassigned. */
    removed_assignments: {
      removal_id: number
      /** The table of the link. */
      links: string
      item_id: number
    }
  }
}

export {}
