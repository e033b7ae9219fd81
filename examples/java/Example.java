// Stores an exchange, builds a context from it, and finds it again: bash examples/run java 127.0.0.1:50051

import com.utterd.v1.BuildContextRequest;
import com.utterd.v1.ContextServiceGrpc;
import com.utterd.v1.ConversationServiceGrpc;
import com.utterd.v1.CreateConversationRequest;
import com.utterd.v1.MemorizeRequest;
import com.utterd.v1.MemoryServiceGrpc;
import com.utterd.v1.NewUtterance;
import com.utterd.v1.RememberRequest;
import com.utterd.v1.Role;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.Locale;

class Example {
  public static void main(String[] arguments) {
    var said = List.of(
        said(Role.ROLE_USER, "My flight HAT136 leaves on May 23. Can I move it to the morning?"),
        said(Role.ROLE_ASSISTANT, "HAT136 can move to 07:40 on May 23 for 35 euros."));

    var channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    var conversations = ConversationServiceGrpc.newBlockingStub(channel);
    var contexts = ContextServiceGrpc.newBlockingStub(channel);
    var memory = MemoryServiceGrpc.newBlockingStub(channel);
    var created = conversations.createConversation(CreateConversationRequest.newBuilder().setRecipientId("alice").build());
    var id = created.getConversation().getConversationId();
    var stored = memory.memorize(MemorizeRequest.newBuilder().setConversationId(id).addAllUtterances(said).build());
    var built = contexts.buildContext(BuildContextRequest.newBuilder().setConversationId(id).setTokenBudget(2000).build());
    var found = memory.remember(RememberRequest.newBuilder().setConversationId(id).setPrompt("how many euros?").build());

    print("memorized %d utterances: %d tokens", stored.getMemorizedCount(), stored.getCapacity().getTokenCount());
    print("%s", built.getMessagesJson());
    print("%d tokens of %d", built.getTokenCount(), built.getTokenBudget());
    for (var match : found.getMatchesList()) {
      print("%.2f %s", match.getScore(), match.getUtterance().getContent());
    }
    channel.shutdown();
  }

  private static NewUtterance said(Role role, String content) {
    return NewUtterance.newBuilder().setRole(role).setContent(content).build();
  }

  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
