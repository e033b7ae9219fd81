//! AdminService.

use crate::convert::status::{IntoStatus, OrStatus};
use futures::{StreamExt as _, stream};
use tonic::{Code, Request, Response, Status};

use crate::{
    Responses, Services,
    proto::{self, admin_service_server::AdminService},
    transport_error,
};
use utterd_engine::EngineError;

#[tonic::async_trait]
impl AdminService for Services {
    type BackupStream = Responses<proto::BackupResponse>;

    async fn backup(&self, _: Request<proto::BackupRequest>) -> Result<Response<Self::BackupStream>, Status> {
        let chunks = self.engine.backup().or_status()?;
        let parts = stream::unfold(Some((chunks, self.closing.clone())), |rest| async move {
            let (mut chunks, mut closing) = rest?;
            let chunk = tokio::select! {
                biased;
                _ = closing.wait_for(|closing| *closing) => return Some((Err(cut()), None)),
                chunk = chunks.next() => chunk?,
            };
            let part = chunk.map(|chunk| proto::BackupResponse { chunk });
            Some((part.map_err(|error| EngineError::from(error).into_status()), Some((chunks, closing))))
        });
        Ok(Response::new(Box::pin(parts)))
    }
}

/// The error that ends an incomplete backup, so that it does not look complete.
fn cut() -> Status {
    transport_error(Code::Unavailable, "SERVER_CLOSING", "the server is shutting down: the backup is cut off")
}
