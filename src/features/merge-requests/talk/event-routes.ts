import { resourceEventsOn } from '../../planning/resource-events/endpoints.ts'
import { mergeRequestTalk } from './talk.ts'

export const { listLabels, getLabel, listStates, getState, listMilestones, getMilestone } =
  resourceEventsOn(mergeRequestTalk)
