/** Columns that every change updates, besides the requested ones. */

export interface Timestamps {
  readonly updated_at: string
  readonly updated_by_id: number | null
  readonly last_edited_at: string | null
  readonly last_edited_by_id: number | null
  readonly closed_at: string | null
  readonly created_at: string
}

const TIMES = ['created_at', 'updated_at', 'updated_by_id', 'last_edited_at', 'last_edited_by_id', 'closed_at'] as const

/** The changed columns, with old and new value. */
export const timestampChanges = (was: Timestamps, is: Timestamps): { [field: string]: readonly [unknown, unknown] } =>
  Object.fromEntries(TIMES.filter((name) => was[name] !== is[name]).map((name) => [name, [was[name], is[name]]]))

interface Texts {
  readonly title: string
  readonly description: string | null
}

export const editedBy = (was: Texts, is: Texts, by: number, now: string) =>
  was.title === is.title && was.description === is.description ? {} : { last_edited_at: now, last_edited_by_id: by }
