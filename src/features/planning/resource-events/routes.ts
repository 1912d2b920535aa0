import { issueNoteable } from '../issues/noteable.ts'
import { resourceEventsOn } from './endpoints.ts'

export const { listLabels, getLabel, listStates, getState, listMilestones, getMilestone } =
  resourceEventsOn(issueNoteable)
