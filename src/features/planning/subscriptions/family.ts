import { family } from '../../family.ts'
import { forgetSubscriptionsOfLeaver } from './on.ts'

export const subscriptions = family({ reactions: [forgetSubscriptionsOfLeaver] })
