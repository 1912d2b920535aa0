import { issueTalk } from '../issues/talk.ts'
import { resourceEventsOn } from './endpoints.ts'

export const { listLabels, getLabel, listStates, getState, listMilestones, getMilestone } = resourceEventsOn(issueTalk)
