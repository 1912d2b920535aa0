import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { mergeTextIndexes } from '../../../store/full-text.ts'

/** Merges recent index entries into the main index, so that a search reads few parts. */
export const merge = job('text_indexes.merge', ({ db }) => mergeTextIndexes(db), { every: HOUR })
