import { snippetTalk } from '../snippets/talk.ts'
import { notesOn } from './endpoints.ts'

export const { list, get, create, update, destroy } = notesOn(snippetTalk)
