import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { ItemColumn } from '../items/kind.ts'
import { itemIn } from '../items/registry.ts'
import { BasicLabelEntity, presentBasicLabel } from '../labels/entity.ts'
import type { Label } from '../labels/model.ts'
import { MilestoneEntity, type MilestoneRecord } from '../milestones/entity.ts'
import type { LabelEvent, MilestoneEvent, StateEvent } from './model.ts'

const happened = {
  id: z.int(),
  user: UserSummaryEntity.nullable(),
  created_at: timestampOut,
  resource_type: z.string(),
  resource_id: z.int(),
}

export const LabelEventEntity = entity({
  ...happened,
  /** Null if the label was deleted. */
  label: BasicLabelEntity.nullable(),
  action: z.enum(['add', 'remove']),
}).meta({ id: 'ResourceLabelEvent' })

export const StateEventEntity = entity({ ...happened, state: z.string() }).meta({ id: 'ResourceStateEvent' })

export const MilestoneEventEntity = entity({
  ...happened,
  /** Null if the milestone was deleted. */
  milestone: MilestoneEntity.nullable(),
  action: z.enum(['add', 'remove']),
  state: z.string(),
}).meta({ id: 'ResourceMilestoneEvent' })

type By<E> = E & { readonly user: User | null }

type Happened = Pick<StateEvent, 'id' | ItemColumn | 'created_at'>

function common(event: By<Happened>, around: Surroundings) {
  const { kind, id } = itemIn(event)!
  return {
    id: event.id,
    user: event.user && presentUserSummary(event.user, around),
    created_at: event.created_at,
    resource_type: kind.type,
    resource_id: id,
  }
}

export const presentLabelEvent = (
  event: By<LabelEvent>,
  label: Label | undefined,
  around: Surroundings,
): z.infer<typeof LabelEventEntity> => ({
  ...common(event, around),
  label: label ? presentBasicLabel(label) : null,
  action: event.action,
})

export const presentStateEvent = (event: By<StateEvent>, around: Surroundings): z.infer<typeof StateEventEntity> => ({
  ...common(event, around),
  state: event.state,
})

export const presentMilestoneEvent = (
  event: By<MilestoneEvent>,
  milestone: MilestoneRecord | null,
  around: Surroundings,
): z.infer<typeof MilestoneEventEntity> => ({
  ...common(event, around),
  milestone,
  action: event.action,
  state: event.state,
})
