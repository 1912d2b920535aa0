import { blankable, date, moment, oneOf } from '../../../api/wire.ts'
import { TOKEN_SORTS } from './queries.ts'

/** Filters and sort orders for lists of tokens, of users as well as of groups and projects. */
export const tokenFilters = {
  sort: oneOf(...TOKEN_SORTS).nullish(),
  created_before: blankable(moment),
  created_after: blankable(moment),
  last_used_before: blankable(moment),
  last_used_after: blankable(moment),
  expires_before: blankable(date),
  expires_after: blankable(date),
}
