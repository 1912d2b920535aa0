import { awardsOnNotes, awardsOnTopic } from '../../planning/award-emoji/endpoints.ts'
import { mergeRequestTalk } from './talk.ts'

export const { list, get, create, destroy } = awardsOnTopic(mergeRequestTalk)
export const {
  list: listOfNote,
  get: getOfNote,
  create: createOnNote,
  destroy: destroyOfNote,
} = awardsOnNotes(mergeRequestTalk)
