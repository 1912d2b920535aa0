import { discussionsOn, resolvingOn } from '../../planning/discussions/endpoints.ts'
import { mergeRequestNoteable } from './noteable.ts'

export const { list, get, create, addNote, getNote, updateNote, destroyNote } = discussionsOn(mergeRequestNoteable)
export const { resolve } = resolvingOn(mergeRequestNoteable)
