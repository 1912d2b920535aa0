import { issueTalk } from '../issues/talk.ts'
import { awardsOnNotes, awardsOnTopic } from './endpoints.ts'

export const { list, get, create, destroy } = awardsOnTopic(issueTalk)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(issueTalk)
