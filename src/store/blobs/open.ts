/** Opens the configured blob store. */
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Blobs } from './blobs.ts'
import { folderBlobs } from './folder.ts'

type Where = Pick<Config, 'data' | 'blobsUrl' | 's3AccessKey' | 's3SecretKey'>

export async function openBlobs({ data, blobsUrl, s3AccessKey, s3SecretKey }: Where): Promise<Blobs> {
  if (!blobsUrl) return folderBlobs(join(data, 'blobs'))
  const { bucketOf, s3Blobs } = await import('./s3.ts')
  return s3Blobs(bucketOf(blobsUrl, { accessKey: s3AccessKey, secretKey: s3SecretKey }), join(data, 'spool'))
}
