import { notesOn } from '../../planning/notes/endpoints.ts'
import { mergeRequestTalk } from './talk.ts'

export const { list, get, create, update, destroy } = notesOn(mergeRequestTalk)
