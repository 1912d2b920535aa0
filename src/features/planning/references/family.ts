import { itemFamily } from '../../family.ts'
import { referenceReactions, trackChangedNote, trackCommits, trackNewNote } from './on.ts'

export const references = itemFamily((kinds) => ({
  reactions: [trackNewNote, trackChangedNote, trackCommits, ...kinds.flatMap(referenceReactions)],
}))
