import { resourceEventsOn } from '../../planning/resource-events/endpoints.ts'
import { mergeRequestNoteable } from './noteable.ts'

export const { listLabels, getLabel, listStates, getState, listMilestones, getMilestone } =
  resourceEventsOn(mergeRequestNoteable)
