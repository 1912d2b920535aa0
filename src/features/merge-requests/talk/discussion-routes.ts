import { discussionsOn, resolvingOn } from '../../planning/discussions/endpoints.ts'
import { mergeRequestTalk } from './talk.ts'

export const { list, get, create, addNote, getNote, updateNote, destroyNote } = discussionsOn(mergeRequestTalk)
export const { resolve } = resolvingOn(mergeRequestTalk)
