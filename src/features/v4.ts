/** The whole API: one line per family. A family's `routes.ts` holds its endpoints. */
import type { Endpoint } from '../api/endpoint.ts'
import * as users from './identity/users/routes.ts'

/** Families in the order of the documentation; the key is the chapter's name. */
export const families = {
  users,
} satisfies Record<string, Record<string, Endpoint>>

export const v4: readonly Endpoint[] = Object.values(families).flatMap((family) => Object.values(family))
