// Stores an exchange, builds a context from it, and finds it again: bash examples/run cpp 127.0.0.1:50051

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>

#include "utterd/v1/context_service.grpc.pb.h"
#include "utterd/v1/conversation_service.grpc.pb.h"
#include "utterd/v1/memory_service.grpc.pb.h"

using namespace utterd::v1;

void check(const grpc::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error_message().c_str());
  std::exit(1);
}

void add(MemorizeRequest& request, Role role, const char* content) {
  NewUtterance* said = request.add_utterances();
  said->set_role(role);
  said->set_content(content);
}

int main(int, char** arguments) {
  grpc::ClientContext calls[4];  // each is for one call
  auto channel = grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials());
  CreateConversationRequest create;
  create.set_recipient_id("alice");
  CreateConversationResponse created;
  check(ConversationService::NewStub(channel)->CreateConversation(&calls[0], create, &created));

  auto memory = MemoryService::NewStub(channel);
  MemorizeRequest memorize;
  memorize.set_conversation_id(created.conversation().conversation_id());
  add(memorize, ROLE_USER, "My flight HAT136 leaves on May 23. Can I move it to the morning?");
  add(memorize, ROLE_ASSISTANT, "HAT136 can move to 07:40 on May 23 for 35 euros.");
  MemorizeResponse stored;
  check(memory->Memorize(&calls[1], memorize, &stored));

  BuildContextRequest build;
  build.set_conversation_id(memorize.conversation_id());
  build.set_token_budget(2000);
  BuildContextResponse built;
  check(ContextService::NewStub(channel)->BuildContext(&calls[2], build, &built));

  RememberRequest remember;
  remember.set_conversation_id(memorize.conversation_id());
  remember.set_prompt("how many euros?");
  RememberResponse found;
  check(memory->Remember(&calls[3], remember, &found));

  std::printf("memorized %d utterances: %d tokens\n", stored.memorized_size(), stored.capacity().token_count());
  std::printf("%s\n%d tokens of %d\n", built.messages_json().c_str(), built.token_count(), built.token_budget());
  for (const Match& match : found.matches()) {
    std::printf("%.2f %s\n", match.score(), match.utterance().content().c_str());
  }
}
