import { family } from '../../family.ts'
import { deleteSubscriptionsOfFormerMember } from './on.ts'

export const subscriptions = family({ reactions: [deleteSubscriptionsOfFormerMember] })
