import { family } from '../../family.ts'
import { followOptions } from './jobs.ts'
import { followPushEvent } from './on.ts'
import { followPush } from './service.ts'

export const mergeRequestPushes = family({ jobs: [followOptions], reactions: [followPushEvent], afterPush: followPush })
