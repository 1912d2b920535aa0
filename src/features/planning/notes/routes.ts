import { issueTalk } from '../issues/talk.ts'
import { notesOn } from './endpoints.ts'

export const { list, get, create, update, destroy } = notesOn(issueTalk)
