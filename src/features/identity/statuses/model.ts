declare module '../../../store/database.ts' {
  interface Tables {
    /** The status message of a user. A user without one has no row. */
    user_statuses: {
      user_id: number
      emoji: string
      message: string
      availability: Availability
      /** The status expires at this moment. */
      clear_at: string | null
    }
  }
  interface Events {
    'user.status_changed': { id: number }
  }
}

export const AVAILABILITIES = ['not_set', 'busy'] as const
export type Availability = (typeof AVAILABILITIES)[number]
