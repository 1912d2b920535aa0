declare module '../../../store/database.ts' {
  interface Tables {
    deployment_merge_requests: {
      merge_request_id: number
      deployment_id: number
      environment_id: number
      /** When the deployment was over. */
      deployed_at: string
    }
  }
}
