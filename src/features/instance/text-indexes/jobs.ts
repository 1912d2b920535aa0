import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { mergeTextIndexes } from '../../../store/full-text.ts'

/** What was written since is put together with the rest, so that searches look in few places. */
export const merge = job('text_indexes.merge', ({ db }) => mergeTextIndexes(db), { every: HOUR })
