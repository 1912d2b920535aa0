import { snippetTalk } from '../snippets/talk.ts'
import { awardsOnNotes, awardsOnTopic } from './endpoints.ts'

export const { list, get, create, destroy } = awardsOnTopic(snippetTalk)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(snippetTalk)
