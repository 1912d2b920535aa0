declare module '../../../store/database.ts' {
  interface Tables {
    /** What somebody says of themselves; who says nothing has no row. */
    user_statuses: {
      user_id: number
      emoji: string
      message: string
      availability: Availability
      /** From then on it is as if it were not there. */
      clear_at: string | null
    }
  }
  interface Events {
    'user.status_changed': { id: number }
  }
}

export const AVAILABILITIES = ['not_set', 'busy'] as const
export type Availability = (typeof AVAILABILITIES)[number]
