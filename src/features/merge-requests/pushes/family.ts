import { family } from '../../family.ts'
import { followTold } from './on.ts'
import { followPush } from './service.ts'

export const mergeRequestPushes = family({ reactions: [followTold], afterPush: followPush })
