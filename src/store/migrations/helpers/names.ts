/** The name of a unique index or constraint: the same that an error reports, on both databases. */
export const uniqueName = (table: string, columns: readonly string[]): string => [table, ...columns, 'unique'].join('_')

/** The statement that creates a unique index; a condition may follow. */
export const unique = (table: string, ...columns: string[]): string =>
  `create unique index ${uniqueName(table, columns)} on ${table} (${columns.join(', ')})`
