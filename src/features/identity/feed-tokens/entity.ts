import { z } from 'zod'
import { entity } from '../../../api/wire.ts'

export const FeedTokenEntity = entity({ feed_token: z.string().nullable() }).meta({ id: 'FeedToken' })
